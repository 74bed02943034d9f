{ lib }: {
  "one lane" = { got = lib.waitsFor { lanes = 1; count = 3; }; wanted = [ null 0 1 ]; };
  "two lanes" = { got = lib.waitsFor { lanes = 2; count = 5; }; wanted = [ null null 0 1 2 ]; };
  "more lanes than work" = { got = lib.waitsFor { lanes = 9; count = 2; }; wanted = [ null null ]; };
  "nothing" = { got = lib.waitsFor { lanes = 1; count = 0; }; wanted = [ ]; };
}
