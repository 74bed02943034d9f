# kernelFaults :: { src, roots (of listRoots), targets, heavyLanes, optimize ? null, launched ? null (of readManifest), host ? [ ] } -> [string]
# Everything that is wrong with what a kernel set is to be built from, each with what to write instead. Nothing is built to find it.
{ listTargets, optimizeFaults, targetFault, targets }@table:
{ src, roots, targets, heavyLanes, optimize ? null, launched ? null, host ? [ ] }:
let
  backends = [ "cpu" "cuda" "hip" ];
  isName = name: builtins.isString name && builtins.match "[A-Za-z_][A-Za-z0-9_]*" name != null;
  isInside = file: builtins.isString file && builtins.match "(.*/)?\\.\\.(/.*)?|/.*" file == null;
  isThere = file: builtins.pathExists (src + "/${file}");
  importLists = root: if builtins.isAttrs root.imports then builtins.attrValues root.imports else [ root.imports ];

  # One file, or files of LLVM IR by backend.
  sourcesOf = root: if builtins.isAttrs root.source then builtins.attrValues root.source else if root.source == null then [ ] else [ root.source ];
  sourceFaults = root: source:
    let where = "root ${toString root.name}"; in
    if !isInside source then
      [ "${where}: its source ${toString source} is not below the project's folder.\n  Write the path from that folder: source = \"kernels/${toString root.name}.py\"" ]
    else if builtins.match ".*\\.(py|ll|bc)" source == null then
      [ "${where}: its source ${source} is neither a Python module (.py) nor LLVM IR (.ll, .bc)." ]
    else if builtins.isAttrs root.source && builtins.match ".*\\.py" source != null then
      [ "${where}: its source ${source} is Python, which is one source for all backends.\n  Write: source = \"${source}\"" ]
    else if !isThere source then
      [ "${where}: its source ${source} does not exist.\n  Write the file, or mend the line: source = \"${source}\"\n  A flake of a git repository sees tracked files only: git add ${source}" ]
    else [ ];

  names = map (root: root.name or null) roots;
  repeated = builtins.filter (name: builtins.length (builtins.filter (other: other == name) names) > 1) names;
  once = builtins.foldl' (seen: name: if builtins.elem name seen then seen else seen ++ [ name ]) [ ];

  duplicates = map
    (name:
      let sources = map (root: builtins.concatStringsSep ", " (sourcesOf root)) (builtins.filter (root: root.name == name) roots); in
      "root ${name} is declared more than once, with the sources ${builtins.concatStringsSep " and " sources}.\n"
      + "  A name is unique in a kernel set: rename one of them.")
    (once repeated);

  rootFaults = root:
    let where = "root ${toString root.name}"; in
    (if isName root.name then [ ] else [
      "root \"${toString root.name}\": a name is letters, digits and underscores, no digit first.\n  Rename the root; its source file can keep its name."
    ])
    ++ (
      if sourcesOf root == [ ] then
        [ "${where} has no source.\n  Add the line: source = \"kernels/${toString root.name}.py\"" ]
      else builtins.concatMap (sourceFaults root) (sourcesOf root)
    )
    ++ builtins.concatMap
      (file:
        if !isInside file then [ "${where}: its import ${toString file} is not below the project's folder." ]
        else if !isThere file then [ "${where}: its import ${file} does not exist.\n  Write the file, or take it out of the line: imports = [ ... ]" ]
        else [ ])
      (builtins.concatLists (importLists root))
    ++ optimizeFaults "${where}: optimize" (root.optimize or null)
    ++ (if builtins.isAttrs root.source then
      map (key: "${where}: source.${key}: LLVM IR is for cuda or hip.") (builtins.filter (key: !builtins.elem key [ "cuda" "hip" ]) (builtins.attrNames root.source))
    else [ ])
    ++ (if builtins.isAttrs root.imports then
      map (key: "${where}: imports.${key}: there is no such backend.\n  Known backends: ${builtins.concatStringsSep ", " backends}")
        (builtins.filter (key: !builtins.elem key backends) (builtins.attrNames root.imports))
    else [ ]);

  listed = listTargets targets;
  targetFaults = builtins.concatMap
    ({ name, backend }:
      let fault = targetFault name; in
      if fault != null then [ fault ]
      else if backend != null && backend != table.targets.${name}.backend then
        [ "target ${name} is listed under ${backend}.\n  Move it: targets.${table.targets.${name}.backend} = [ \"${name}\" ];" ]
      else [ ])
    listed;
in
(if roots == [ ] then [
  "no kernel root.\n  Declare one in pyproject.toml:\n    [tool.gompute.roots.kernels]\n    source = \"kernels.py\"\n  or give mkKernels: roots.kernels.source = \"kernels.py\";"
] else [ ])
++ duplicates
++ builtins.concatMap rootFaults roots
++ (if listed == [ ] then [
  "no target: a build is for pinned targets.\n  Declare them in pyproject.toml:\n    [tool.gompute]\n    targets = [\"sm_89\", \"x86-64-v3\"]\n  or give mkKernels: targets.cuda = [ \"sm_89\" ];"
] else [ ])
++ targetFaults
++ optimizeFaults "optimize" optimize
++ (if launched == null then [ ] else map
  (name: "the manifest names kernels of root ${name}, which is not declared: ${builtins.concatStringsSep ", " (builtins.attrNames launched.${name})}.\n"
    + "  Declare the root, or scan again: gompute manifest scan PATH... -o MANIFEST")
  (builtins.filter (name: launched.${name} != { } && !builtins.elem name names) (builtins.attrNames launched)))
++ map (file: "host code ${toString file} does not exist below the project's folder.\n  Mend the line: host = [ ... ]")
  (builtins.filter (file: !(isInside file && isThere file)) host)
++ (if builtins.isInt heavyLanes && heavyLanes >= 1 then [ ] else [
  "heavy-lanes is ${builtins.toJSON heavyLanes}: the number of heavy roots that compile at a time, 1 or more."
])
