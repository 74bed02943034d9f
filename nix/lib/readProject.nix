# readProject :: path -> { faults :: [string]; targets; roots; heavyLanes; manifest; optimize; host; keep; }
# What [tool.gompute] of a folder's pyproject.toml declares. A key that is not known here is a fault: `gompute build` may heed it, and a
# build that does not would give other bytes.
{ nearNames }:
src:
let
  file = src + "/pyproject.toml";
  document = if builtins.pathExists file then builtins.fromTOML (builtins.readFile file) else { };
  declared = document.tool.gompute or { };
  roots = declared.roots or { };

  unknown = where: known: table: map
    (key:
      let near = nearNames key known; in
      "${where}: unknown key \"${key}\"${if near == [ ] then "" else ", did you mean ${builtins.head near}?"}\n"
      + "  Known keys: ${builtins.concatStringsSep ", " known}")
    (builtins.filter (key: !builtins.elem key known) (builtins.attrNames table));
in
{
  faults = unknown "[tool.gompute]" [ "heavy-lanes" "host" "keep" "manifest" "optimize" "roots" "targets" ] declared
    ++ builtins.concatMap (name: unknown "[tool.gompute.roots.${name}]" [ "heavy" "imports" "optimize" "source" ] roots.${name}) (builtins.attrNames roots);
  targets = declared.targets or [ ];
  inherit roots;
  heavyLanes = declared.heavy-lanes or 1;
  # The launch manifest, from the folder on; null for none. What `keep` names is in it.
  manifest = declared.manifest or null;
  # A mode, modes by backend, or null.
  optimize = declared.optimize or null;
  # Files and folders of the host code; none where nothing is declared. What a scan of them keeps besides.
  host = declared.host or [ ];
  keep = declared.keep or [ ];
}
