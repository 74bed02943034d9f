# The work on LLVM IR by itself, golden files included: input, expected output, expected names.
{ gompute, pkgs, files, ... }:
pkgs.runCommand "gompute-goldens"
{
  nativeBuildInputs = [ gompute.environments.development ];
  source = files [ "gompute" "tests/__init__.py" "tests/conftest.py" "tests/backends" "tests/driver" "tests/ir" "checks/golden" "pyproject.toml" ];
} ''
  cp -r $source source # what hypothesis remembers lies beside the tests, and the store cannot be written to
  chmod -R u+w source
  cd source
  export HOME=$TMPDIR PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1
  set -o pipefail
  python3 -m pytest -q -p no:cacheprovider tests/ir 2>&1 | cat
  touch $out
''
