# readManifest :: path -> string | attrs | null -> null | { <root> = { <kernel> = [instance]; }; }
# What a launch manifest names: a file from `src` on, or what is in it. null is for everything. Python checks the kernels, in the builds.
src: manifest:
let
  document = if builtins.isString manifest then builtins.fromJSON (builtins.readFile (src + "/${manifest}")) else manifest;
in
if manifest == null then null
else if builtins.isString manifest && !builtins.pathExists (src + "/${manifest}") then
  throw "gompute: the manifest ${manifest} does not exist.\n  Write it: gompute manifest scan PATH... -o ${manifest}\n  A flake of a git repository sees tracked files only: git add ${manifest}"
else if document.version or null != 1 || !(builtins.isAttrs (document.kernels or null)) then
  throw "gompute: the manifest is none: it lacks \"version\": 1 or \"kernels\".\n  Write it: gompute manifest scan PATH... -o manifest.json"
else document.kernels
