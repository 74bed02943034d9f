# What is shipped holds no compiler, and nobody gets NVIDIA's ptxas without asking for it.
{ gompute, pkgs, kernels, ... }:
let
  runtime = gompute.withKernels { inherit kernels; };
  command = gompute.commandLine;
in
pkgs.runCommand "gompute-closures"
{
  exportReferencesGraph = [ "runtime" runtime "command" command "kernels" kernels ];
} ''
  # Each graph lists the paths of a closure, one to a line, between numbers.
  refuse() {
    if grep -E "^/nix/store/.*($2)" $1; then echo "these are in the closure of $1 and must not be"; exit 1; fi
    grep -q '^/nix/store/' $1
  }
  refuse runtime 'llvmlite|ziglang|nvidia|nvcc'
  refuse command 'nvidia|nvcc|ptxas'
  # A kernel set is data: it refers to nothing at all.
  test $(grep -c '^/nix/store/' kernels) = 1
  touch $out
''
