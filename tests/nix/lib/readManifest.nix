{ lib }:
let
  kernels = { a = { axpy = [ "f32" ]; two = [ ]; }; };
  fails = manifest: !(builtins.tryEval (builtins.deepSeq (lib.readManifest ./launched manifest) true)).success;
in
{
  "none" = { got = lib.readManifest ./launched null; wanted = null; };
  "a file" = { got = lib.readManifest ./launched "manifest.json"; wanted = kernels; };
  "its content" = { got = lib.readManifest ./launched { version = 1; inherit kernels; }; wanted = kernels; };
  "a file that is not there" = { got = fails "gone.json"; wanted = true; };
  "another version" = { got = fails { version = 2; kernels = { }; }; wanted = true; };
}
