# parseTarget :: string -> target
# The row of the table of targets that a name stands for, with the name in it. An unknown name ends the evaluation in plain words.
{ targetFault, targets }:
name:
let fault = targetFault name; in
if fault == null then targets.${name} // { inherit name; } else throw "gompute: ${fault}"
