# A file that a heavy root's derivation needs and that can be made only when the root before it in its lane is done.
#
# It has a fixed output: its path follows from its name and what is in it, whatever it waits for. So roots of one lane compile one after the
# other, and yet an edit of one compiles no other, and a root has the same path alone (`after` is null) as in the set. The token is named for
# the root that waits, and for the toolchain, with which all of them compile again and have to wait again.
{ pkgs }:
{ name, toolchain, after }:
let
  tag = builtins.substring 0 8 (builtins.hashString "sha256" (builtins.unsafeDiscardStringContext toolchain));
in
pkgs.runCommand "lane-${name}-${tag}"
{
  inherit after;
  outputHashMode = "flat";
  outputHashAlgo = "sha256";
  outputHash = builtins.hashString "sha256" "go\n";
} "echo go > $out"
