# The table that targets are looked up in before anything is built is Python's.
{ gompute, pkgs, ... }:
pkgs.runCommand "gompute-targets" { nativeBuildInputs = [ gompute.environments.compiler ]; } ''
  PYTHONPATH=${gompute.compilerSource} python3 -m gompute.targets > targets.json
  if ! cmp targets.json ${../lib/targets.json}; then
    echo "nix/lib/targets.json is stale. Write it again: python -m gompute.targets > nix/lib/targets.json"
    exit 1
  fi
  touch $out
''
