{ lib }:
let says = word: name: builtins.match ".*${word}.*" (builtins.replaceStrings [ "\n" ] [ " " ] (lib.targetFault name)) != null; in
{
  "a target" = { got = map lib.targetFault [ "sm_89" "gfx90a:xnack+" "x86-64-v3" ]; wanted = [ null null null ]; };
  "detection is refused with the reason" = { got = map (says "always pinned.*targets = ") [ "auto" "native" ]; wanted = [ true true ]; };
  "near names" = { got = lib.targetFault "x86_64_v3"; wanted = "unknown target \"x86_64_v3\"; did you mean x86-64-v3 or x86-64-v4?"; };
  "no near name" = { got = says "gompute targets" "turing"; wanted = true; };
  "no string" = { got = says "type int" 89; wanted = true; };
}
