# gompute itself as a Python package, from the wheel that poetry-core makes: the same files that pip installs.
{ pkgs, environments }:
let
  root = toString ../.;
  inherit (environments) python;
  wanted = [ "gompute" "LICENSE" "README.md" "pyproject.toml" "checks" "checks/example" "checks/example/photo.py" ];
  source = builtins.path {
    name = "gompute-source";
    path = ../.;
    filter = path: _:
      let inside = builtins.substring (builtins.stringLength "${root}/") (-1) path; in
      baseNameOf path != "__pycache__"
      && (builtins.elem inside wanted || builtins.substring 0 (builtins.stringLength "gompute/") inside == "gompute/");
  };
in
pkgs.runCommand "gompute-package" { nativeBuildInputs = [ environments.packaging ]; } ''
  cp -r ${source} source
  chmod -R u+w source
  cd source
  python3 -c 'from poetry.core.masonry.api import build_wheel; build_wheel("..")'
  site=$out/${python.sitePackages}
  mkdir -p $site $out/bin
  python3 -m zipfile -e ../gompute-*.whl $site
  printf '#!%s\nfrom gompute.cli import main\n\nmain()\n' ${python.interpreter} > $out/bin/gompute
  chmod +x $out/bin/gompute
''
