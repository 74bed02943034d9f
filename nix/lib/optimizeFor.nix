# optimizeFor :: { root, project :: null | string | { cuda ? , hip ? , cpu ? :: string } } -> string -> string
# The optimise mode of a root for a backend: the root's own, else that of the project for the backend, else that of the project. A "debug"
# for all of a project leaves code for a GPU "fast".
{ root, project }:
backend:
let
  named = asked: if builtins.isAttrs asked then asked.${backend} or null else null;
  every = asked: if builtins.isAttrs asked then null else asked;
  first = builtins.foldl' (found: asked: if found != null then found else asked) null;
  own = first [ (named root) (every root) (named project) ];
in
if own != null then own
else if every project == null || (every project == "debug" && backend != "cpu") then "fast"
else every project
