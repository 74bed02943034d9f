# Two programs with different sets, in one shell: each finds its own, with nothing set in its surroundings, and runs it.
{ gompute, pkgs, kernels, source, ... }:
let
  template = gompute.mkKernels { src = source + "/nix/template"; };
  first = gompute.withKernels { inherit kernels; };
  second = gompute.withKernels { kernels = template; };
  both = gompute.withKernels { sets = { photo_kernels = kernels; template_kernels = template; }; };
  hip = gompute.withKernels { inherit kernels; hipRuntime = "/somewhere/lib"; };
  evaluates = environment: (builtins.tryEval environment.outPath).success;
in
assert evaluates first;
assert !evaluates (gompute.withKernels { inherit kernels; moduleName = "no-name"; });
assert !evaluates (gompute.withKernels { });
pkgs.runCommand "gompute-withKernels" { } ''
  export PATH=${first}/bin:${second}/bin:$PATH
  roots() { env -i $1/bin/python3 -c "import $2; print(*$2.root_names)"; }
  test "$(roots ${first} gompute_kernels)" = photo
  test "$(roots ${second} gompute_kernels)" = "counting waves"
  test "$(roots ${both} photo_kernels)" = photo
  test "$(roots ${both} template_kernels)" = "counting waves"
  # The program of the template, which names no set.
  env -i ${second}/bin/python3 ${source + "/nix/template"}/main.py
  env -i ${hip}/bin/python3 -c 'import os; assert os.environ["GOMPUTE_LIBHIP"] == "/somewhere/lib", os.environ'
  touch $out
''
