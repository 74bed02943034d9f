{ lib }: {
  "capabilities" = { got = (lib.targetsFromNixpkgs { cudaCapabilities = [ "8.9" "9.0a" "12.0" ]; }).cuda; wanted = [ "sm_89" "sm_90a" "sm_120" ]; };
  "ROCm" = { got = (lib.targetsFromNixpkgs { rocmTargets = [ "gfx1100" ]; }).hip; wanted = [ "gfx1100" ]; };
  "neither" = { got = lib.targetsFromNixpkgs { }; wanted = { cuda = [ ]; hip = [ ]; }; };
}
