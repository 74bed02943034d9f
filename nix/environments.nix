# Python environments from poetry.lock. All that touches poetry2nix is here, so that it can be replaced.
{ pkgs, poetry2nix }:
let
  # The extras with the vendors' driver bindings, as far as they exist for this machine. They need no driver to be installed.
  drivers = [ "cuda" ] ++ (if pkgs.stdenv.hostPlatform.system == "x86_64-linux" then [ "hip" ] else [ ]);
  poetry = poetry2nix.lib.mkPoetry2Nix { inherit pkgs; };
  python = pkgs.python3;

  make = { name, extras, imports, extraPackages ? [ ] }:
    let
      environment = poetry.mkPoetryEnv {
        # Only pyproject.toml and poetry.lock are read of it.
        projectDir = ../.;
        inherit python extras;
        groups = [ ];
        preferWheels = true;
        # The defaults add compilers for numpy's sake, even where a wheel is taken.
        overrides = poetry.overrides.withoutDefaults (final: prev: { });
        extraPackages = packages: map packages.toPythonModule extraPackages;
      };
    in
    # A pyproject.toml that poetry2nix half understands gives an empty environment without a word; so nobody gets one that was not tried.
    pkgs.runCommand name { passthru = { inherit environment python; }; } ''
      ${environment}/bin/python3 -c 'import ${builtins.concatStringsSep ", " imports}'
      ln -s ${environment} $out
    '';
in
{
  inherit drivers make python;

  compiler = make {
    name = "gompute-compiler";
    extras = [ "compiler" ];
    imports = [ "llvmlite.binding" "ziglang" "numpy" "click" ];
  };
  # Holds NVIDIA's ptxas, under NVIDIA's licence: used where a cubin is asked for, and nowhere else.
  compilerWithPtxas = make {
    name = "gompute-compiler-with-ptxas";
    extras = [ "compiler" "cubin" ];
    imports = [ "llvmlite.binding" "ziglang" "numpy" "click" "nvidia" ];
  };
  # To make the wheel of gompute itself.
  packaging = make {
    name = "gompute-packaging";
    extras = [ "dev" ];
    imports = [ "poetry.core.masonry.api" ];
  };
  development = make {
    name = "gompute-development";
    extras = [ "compiler" "cubin" "demo" "dev" ] ++ drivers;
    imports = [ "llvmlite.binding" "ziglang" "numpy" "click" "nvidia" "pytest" "xdist" "hypothesis" "mypy" "ruff" "poetry.core" ];
  };
}
