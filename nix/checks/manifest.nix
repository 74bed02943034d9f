# The example's manifest says what its program launches, and a set that is built with one has that and no more.
{ gompute, pkgs, files, source, ... }:
let
  src = source + "/nix/template";
  launched = gompute.mkKernels {
    inherit src;
    targets.cpu = [ "x86-64-v3" ];
    manifest = { version = 1; kernels = { }; };
    keep = [ "counting.next_number" ];
  };
in
assert builtins.attrNames launched.packages == [ "kernels-counting-x86-64-v3" ];
pkgs.runCommand "gompute-manifest"
{
  nativeBuildInputs = [ gompute.environments.compiler ];
  source = files [ "gompute" "pyproject.toml" "checks/example" ];
} ''
  cd $source
  export PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1
  python3 -m gompute manifest check checks/example/develop.py
  grep -q '"left_out"' ${launched}/index.json
  touch $out
''
