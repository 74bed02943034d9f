# withKernels { kernels; moduleName ? "gompute_kernels"; sets ? { ${moduleName} = kernels; }; hipRuntime ? null; } -> Python environment
# Python with gompute's runtime and kernel sets as modules: a program that runs in it finds its kernels with nothing set in its surroundings.
# The compiler is not in it. The environment's packages are those of the first set.
{ kernels ? null
, moduleName ? "gompute_kernels"
  # Several sets, each as a module of its own name. `gompute_kernels` is the one that gompute looks for by itself.
, sets ?
    if kernels != null then { ${moduleName} = kernels; }
    else throw "gompute: withKernels needs a kernel set. Give it one: withKernels { kernels = mkKernels { ... }; }"
  # The folder or the package with AMD's libamdhip64, which is not among the drivers that NixOS provides at run time: pkgs.rocmPackages.clr
, hipRuntime ? null
, name ? "with-kernels"
}:
let
  names = builtins.attrNames sets;
  inherit (sets.${builtins.head names}.gompute) pkgs environments compilerSource package;

  module = moduleName:
    if builtins.match "[a-z_][a-z0-9_]*" moduleName == null then
      throw "gompute: \"${moduleName}\" cannot name a Python module: write small letters, digits and underscores, no digit first."
    else
      pkgs.runCommand "kernels-module-${moduleName}" { nativeBuildInputs = [ environments.compiler ]; } ''
        export PYTHONPATH=${compilerSource} PYTHONDONTWRITEBYTECODE=1
        site=$out/${environments.python.sitePackages}
        mkdir -p $site
        python3 -m gompute merge ${sets.${moduleName}} --module ${moduleName} -o module
        cp -r module/${moduleName} $site/
      '';

  # A .pth file is read by every interpreter of this environment and by no other. A caller's own GOMPUTE_LIBHIP is stronger.
  hip = pkgs.runCommand "gompute-hip-runtime" { } ''
    site=$out/${environments.python.sitePackages}
    mkdir -p $site
    folder=${hipRuntime}
    [ ! -d $folder/lib ] || folder=$folder/lib
    echo "import os; os.environ.setdefault('GOMPUTE_LIBHIP', '$folder')" > $site/gompute_hip_runtime.pth
  '';

  backends = builtins.concatMap (moduleName: sets.${moduleName}.backends) names;
  drivers = builtins.filter (driver: builtins.elem driver backends) environments.drivers;
in
environments.make {
  inherit name;
  extras = drivers;
  extraPackages = [ package ] ++ map module names ++ (if hipRuntime == null then [ ] else [ hip ]);
  imports = [ "gompute.handles.kernel_set" ] ++ names;
}
