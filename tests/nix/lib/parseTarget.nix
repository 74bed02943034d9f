{ lib }: {
  "a row with its name" = {
    got = let target = lib.parseTarget "gfx90a:xnack+"; in [ target.name target.backend target.safe_name ];
    wanted = [ "gfx90a:xnack+" "hip" "gfx90a-xnack-on" ];
  };
  "an unknown one ends the evaluation" = { got = (builtins.tryEval (lib.parseTarget "auto")).success; wanted = false; };
}
