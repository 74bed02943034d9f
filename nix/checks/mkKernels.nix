# The template's project, a set of several roots: what follows from the lanes, and that a cubin is made where one is asked for.
{ gompute, pkgs, source, ... }:
let
  src = source + "/nix/template";
  declared = (gompute.lib.readProject src).roots;
  heavy = builtins.mapAttrs (_: root: root // { heavy = true; }) declared;
  oneLane = gompute.mkKernels { inherit src; roots = heavy; heavyFeatures = [ "big-parallel" ]; };
  twoLanes = gompute.mkKernels { inherit src; roots = heavy; heavyLanes = 2; heavyFeatures = [ "big-parallel" ]; };
  light = gompute.mkKernels { inherit src; };
  members = set: builtins.listToAttrs (map (drv: { name = drv.name; value = drv; }) set.members);
  alone = set: builtins.listToAttrs (map (drv: { name = drv.name; value = drv; }) (builtins.attrValues set.packages));
  paths = builtins.mapAttrs (_: drv: drv.outPath);
  derivations = builtins.mapAttrs (_: drv: builtins.unsafeDiscardStringContext drv.drvPath);
  cubin = gompute.mkKernels { inherit src; targets.cuda = [ "sm_89" ]; emitCubin = true; };
in
# A heavy root has one path, alone and in a set, whatever it waits for there.
assert paths (members oneLane) == paths (alone oneLane);
assert paths (members oneLane) == paths (members twoLanes);
assert builtins.all (drv: drv.requiredSystemFeatures == [ "big-parallel" ]) oneLane.members;
# And it does wait.
assert derivations (members oneLane) != derivations (alone oneLane);
assert derivations (members oneLane) != derivations (members twoLanes);
pkgs.runCommand "gompute-mkKernels" { nativeBuildInputs = [ gompute.environments.compiler ]; } ''
  # Lanes change no byte.
  diff -r ${oneLane} ${light}
  test -e ${cubin}/*waves*.cubin
  test -e ${cubin}/*waves*.ptx
  touch $out
''
