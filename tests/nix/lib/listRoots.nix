{ lib }:
let full = name: { inherit name; source = "${name}.py"; imports = [ ]; heavy = false; optimize = null; }; in
{
  "a table" = { got = lib.listRoots { b.source = "b.py"; a.source = "a.py"; }; wanted = [ (full "a") (full "b") ]; };
  "a list" = { got = lib.listRoots [ { name = "b"; source = "b.py"; } { name = "a"; source = "a.py"; } ]; wanted = [ (full "a") (full "b") ]; };
  "what is said stays" = { got = (builtins.head (lib.listRoots { a = { source = "a.py"; heavy = true; }; })).heavy; wanted = true; };
}
