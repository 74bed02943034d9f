# Every environment holds what it is for; each is tried when it is made.
{ gompute, pkgs, ... }:
pkgs.runCommand "gompute-environments"
{
  environments = with gompute.environments; [ compiler compilerWithPtxas packaging development ];
} "touch $out"
