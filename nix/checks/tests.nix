# The tests, which need no device. Left out are those of Nix itself, which would start Nix inside Nix; style, which is a check of its own;
# benches, which need a host's compilers; and what needs /bin/sh or /usr/bin/env, which the sandbox lacks.
{ gompute, pkgs, files, ... }:
pkgs.runCommand "gompute-tests"
{
  nativeBuildInputs = [ gompute.environments.development ];
  source = files [ "gompute" "tests" "checks" "nix/template" "pyproject.toml" "poetry.lock" "README.md" "LICENSE" ];
} ''
  cp -r $source source
  chmod -R u+w source
  cd source
  export HOME=$TMPDIR PYTHONPATH=$PWD
  set -o pipefail
  python3 -m pytest -q -p no:cacheprovider -n ''${NIX_BUILD_CORES:-1} \
    --ignore tests/nix --ignore tests/test_style.py --ignore tests/test_benches.py \
    --deselect tests/backends/test_lld.py::test_linker_that_is_killed \
    --deselect tests/cli/test_real_builds.py::test_a_build_calls_no_probe_and_needs_no_environment \
    tests 2>&1 | cat
  touch $out
''
