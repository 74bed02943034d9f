{ lib }: {
  "by backend" = {
    got = lib.listTargets { cuda = [ "sm_80" "sm_89" ]; cpu = [ "x86-64-v3" ]; };
    wanted = [ { name = "x86-64-v3"; backend = "cpu"; } { name = "sm_80"; backend = "cuda"; } { name = "sm_89"; backend = "cuda"; } ];
  };
  "a list, each once" = { got = lib.listTargets [ "sm_89" "sm_89" ]; wanted = [ { name = "sm_89"; backend = null; } ]; };
}
