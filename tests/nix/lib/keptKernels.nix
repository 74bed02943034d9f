{ lib }:
let
  kernels = { a = { axpy = [ "f64" ]; }; };
  kept = keep: lib.keptKernels { inherit kernels keep; };
in
{
  "nothing more" = { got = kept [ ]; wanted = kernels; };
  "a kernel and an instance" = {
    got = kept [ "a.axpy[f32]" "b.plain" "a.axpy[f64]" ];
    wanted = { a = { axpy = [ "f32" "f64" ]; }; b = { plain = [ ]; }; };
  };
  "no root" = { got = (builtins.tryEval (builtins.deepSeq (kept [ "plain" ]) true)).success; wanted = false; };
}
