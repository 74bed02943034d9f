# optimizeFaults :: { nearNames } -> string -> any -> [string]
# What is wrong with the optimise modes that a place asks for (null for none), and what to write instead.
{ nearNames }:
where: asked:
let
  modes = [ "fast" "safe" "debug" ];
  backends = [ "cpu" "cuda" "hip" ];
  like = word: known: let near = nearNames word known; in if near == [ ] then "" else ", did you mean ${builtins.head near}?";
  mode = place: word:
    if !builtins.isString word then [ "${place}: a mode is wanted, one of ${builtins.concatStringsSep ", " modes}, got a value of type ${builtins.typeOf word}." ]
    else if builtins.elem word modes then [ ]
    else [ "${place}: there is no mode \"${word}\"${like word modes}\n  The modes are ${builtins.concatStringsSep ", " modes}." ];
in
if asked == null then [ ]
else if !builtins.isAttrs asked then mode where asked
else builtins.concatMap
  (backend:
    if builtins.elem backend backends then mode "${where}.${backend}" asked.${backend}
    else [ "${where}: there is no backend \"${backend}\"${like backend backends}\n  The backends are ${builtins.concatStringsSep ", " backends}." ])
  (builtins.attrNames asked)
