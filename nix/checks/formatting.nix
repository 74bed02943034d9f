# Format, lint and types, by the tools that pyproject.toml sets up.
{ gompute, pkgs, files, ... }:
pkgs.runCommand "gompute-formatting"
{
  nativeBuildInputs = [ gompute.environments.development ];
  source = files [ "gompute" "tests" "checks" "nix" "pyproject.toml" ];
} ''
  cd $source
  export RUFF_NO_CACHE=true
  ruff format --diff .
  ruff check .
  mypy --cache-dir $TMPDIR/mypy
  touch $out
''
