# listRoots :: [root] or { <name> = root; } -> [root]
# Roots as they may be written, as one list by name, with every default filled in.
roots:
let
  all = if builtins.isList roots then roots else map (name: { inherit name; } // roots.${name}) (builtins.attrNames roots);
in
builtins.sort (a: b: a.name < b.name) (map (root: { source = null; imports = [ ]; heavy = false; optimize = null; } // root) all)
