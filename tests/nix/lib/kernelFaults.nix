{ lib }:
let
  good = { src = ../../../nix/template; roots = [ (root "waves") ]; targets = [ "sm_89" ]; heavyLanes = 1; };
  root = name: { inherit name; source = "kernels/${name}.py"; imports = [ ]; heavy = false; };
  flat = builtins.replaceStrings [ "\n" ] [ " " ];
  # How many faults there are, and whether the first says a thing.
  says = words: change:
    let faults = lib.kernelFaults (good // change); in
    [ (builtins.length faults) (faults != [ ] && builtins.match ".*${words}.*" (flat (builtins.head faults)) != null) ];
  one = [ 1 true ];
in
{
  "nothing wrong" = { got = lib.kernelFaults good; wanted = [ ]; };
  "an unknown target" = { got = says "sm_98.*did you mean" { targets = [ "sm_98" ]; }; wanted = one; };
  "auto" = { got = says "always pinned" { targets.cuda = [ "auto" ]; }; wanted = one; };
  "a target under another backend" = { got = says "targets.hip = " { targets.cuda = [ "gfx1100" ]; }; wanted = one; };
  "no target" = { got = says "no target.*targets = " { targets = { }; }; wanted = one; };
  "no root" = { got = says "no kernel root.*source = " { roots = [ ]; }; wanted = one; };
  "one name for two roots" = {
    got = says "waves is declared more than once.*kernels/waves.py and kernels/counting.py.*rename" {
      roots = [ (root "waves") (root "waves" // { source = "kernels/counting.py"; }) ];
    };
    wanted = one;
  };
  "a source that is not there" = { got = says "kernels/wave.py does not exist.*source = " { roots = [ (root "wave") ]; }; wanted = one; };
  "a root without a source" = { got = says "has no source.*Add the line: source = " { roots = [ (root "waves" // { source = null; }) ]; }; wanted = one; };
  "a source outside" = { got = says "not below" { roots = [ (root "waves" // { source = "../waves.py"; }) ]; }; wanted = one; };
  "neither Python nor LLVM IR" = { got = says "neither a Python module" { roots = [ (root "waves" // { source = "main.cu"; }) ]; }; wanted = one; };
  "Python for one backend" = { got = says "one source for all backends" { roots = [ (root "waves" // { source.cuda = "kernels/waves.py"; }) ]; }; wanted = one; };
  "LLVM IR for a processor" = { got = says "is for cuda or hip" { roots = [ (root "waves" // { source = { cpu = "zig.ll"; }; }) ]; }; wanted = [ 2 false ]; };
  "a manifest of other roots" = { got = says "root storms, which is not declared: rain" { launched = { storms.rain = [ ]; waves = { }; }; }; wanted = one; };
  "an import that is not there" = { got = says "its import kernels/gone.py" { roots = [ (root "waves" // { imports = [ "kernels/gone.py" ]; }) ]; }; wanted = one; };
  "imports of no backend" = { got = says "imports.metal" { roots = [ (root "waves" // { imports.metal = [ ]; }) ]; }; wanted = one; };
  "a name that is none" = { got = says "letters, digits and underscores" { roots = [ (root "waves" // { name = "2d"; }) ]; }; wanted = one; };
  "no mode of a root" = { got = says "root waves: optimize: there is no mode" { roots = [ (root "waves" // { optimize = "slow"; }) ]; }; wanted = one; };
  "no mode of the project" = { got = says "optimize.cuda: there is no mode" { optimize.cuda = "slow"; }; wanted = one; };
  "host code that is not there" = { got = says "host code nowhere.py does not exist" { host = [ "kernels" "nowhere.py" ]; }; wanted = one; };
  "no lane" = { got = says "heavy-lanes is 0" { heavyLanes = 0; }; wanted = one; };
  "all at once" = { got = builtins.length (lib.kernelFaults (good // { roots = [ ]; targets = [ "sm_98" "auto" ]; heavyLanes = "2"; })); wanted = 4; };
}
