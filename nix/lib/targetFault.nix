# targetFault :: any -> null or string
# What is wrong with a target's name, and what to write instead; null for a name that the table has.
{ nearNames, targets }:
name:
let
  near = nearNames name (builtins.attrNames targets);
in
if !builtins.isString name then
  "a target is a string such as \"sm_89\", got a value of type ${builtins.typeOf name}"
else if builtins.hasAttr name targets then
  null
else if builtins.elem name [ "auto" "native" "host" "detect" ] then
  "target \"${name}\": a target is always pinned. A build reads nothing of the machine it runs on, so that it gives the same bytes "
  + "everywhere.\n  Name the architectures that you deploy to: targets = [ \"sm_89\" \"gfx1100\" \"x86-64-v3\" ]"
else
  "unknown target \"${name}\"; "
  + (if near == [ ] then "`gompute targets` lists what there is" else "did you mean ${builtins.concatStringsSep " or " near}?")
