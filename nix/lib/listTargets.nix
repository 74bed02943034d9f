# listTargets :: [string] or { cuda, hip, cpu :: [string] } -> [{ name, backend }]
# Targets as they may be written, as one list without repeats; `backend` is the one that a name was listed under, or null.
targets:
let
  all =
    if builtins.isList targets then
      map (name: { inherit name; backend = null; }) targets
    else
      builtins.concatMap (backend: map (name: { inherit name backend; }) targets.${backend}) (builtins.attrNames targets);
in
builtins.foldl' (seen: target: if builtins.any (other: other.name == target.name) seen then seen else seen ++ [ target ]) [ ] all
