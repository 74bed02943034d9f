{ system }:
let
  # Written by ../seed: { python = "3.11"; pythonFull = "3.11.2"; debs.<package> = sha256; }
  pins = builtins.fromJSON (builtins.readFile ./pins.json);

  # A file that ../seed has put in the store. Its path follows from its name and hash, so it counts as built and is never fetched.
  seeded = name: hash: derivation {
    inherit name;
    system = "builtin";
    builder = "builtin:fetchurl";
    url = "http://run-checks-standin-seed.invalid/${name}";
    outputHashMode = "flat";
    outputHashAlgo = "sha256";
    outputHash = hash;
  };

  # A folder, since busybox finds its applet by argv[0] and must be called busybox.
  busybox = "${builtins.path { name = "boot"; path = ./boot; }}/busybox";
  applets = derivation {
    name = "busybox-applets";
    inherit system;
    builder = busybox;
    args = [ "sh" "-euc" "${busybox} mkdir -p $out/bin; ${busybox} --install -s $out/bin" ];
  };
  raw = name: env: script: derivation ({
    inherit name system;
    builder = busybox;
    PATH = "${applets}/bin";
    args = [ "sh" "-euc" script ];
  } // env);

  unpack = name: packages: script: raw name { debs = map (package: seeded "${package}.deb" pins.debs.${package}) packages; } ''
    mkdir -p $out r
    for deb in $debs; do ar p $deb data.tar.xz | tar xJ -C r; done
    ${script}'';

  libraries =
    let
      isLibrary = package:
        builtins.match "lib.*|zlib1g" package != null && builtins.match "libpython.*|libpam-.*" package == null;
    in
    # glibc and its loader included
    unpack "debian-libraries" (builtins.filter isLibrary (builtins.attrNames pins.debs)) ''
      mkdir $out/lib
      for folder in r/lib/x86_64-linux-gnu r/usr/lib/x86_64-linux-gnu; do
        [ ! -d $folder ] || find $folder -maxdepth 1 -name '*.so*' -exec cp -a {} $out/lib/ \;
      done'';
  loader = "${libraries}/lib/ld-linux-x86-64.so.2";

  bash = unpack "bash" [ "bash-static" ] ''
    mkdir $out/bin
    cp $(find r -type f -name bash-static | grep bin/) $out/bin/bash
    ln -s bash $out/bin/sh'';
  coreutils = raw "coreutils" { } ''
    mkdir -p $out/bin
    cp ${busybox} $out/bin/busybox
    for applet in $($out/bin/busybox --list); do
      case $applet in busybox | sh | bash) ;; *) ln -s busybox $out/bin/$applet ;; esac
    done'';
  patchelf = unpack "patchelf" [ "patchelf" ] ''
    mkdir $out/bin
    cp r/usr/bin/patchelf $out/bin/.patchelf
    printf '#!${bash}/bin/bash\nexec ${loader} --library-path ${libraries}/lib %s "$@"\n' $out/bin/.patchelf > $out/bin/patchelf
    chmod +x $out/bin/patchelf'';

  python3 = import ./python.nix { inherit pins raw unpack libraries loader bash patchelf; };

  stdenv = raw "stdenv" { } ''
    mkdir $out
    printf 'initialPath="${coreutils} ${bash} ${patchelf}"\nexport SHELL=${bash}/bin/bash\n' > $out/setup
    cat ${builtins.path { name = "setup.sh"; path = ./setup.sh; }} >> $out/setup'' // {
    inherit mkDerivation system;
    shell = "${bash}/bin/bash";
    isLinux = true;
    isDarwin = false;
    hostPlatform = { inherit system; isLinux = true; isDarwin = false; };
  };
  mkDerivation = attributes:
    let
      drv = derivation (removeAttrs attributes [ "meta" "passthru" ] // {
        name = attributes.name or "${attributes.pname}-${attributes.version}";
        inherit system;
        stdenv = "${stdenv}";
        # What `nix develop` wants to find set.
        outputs = [ "out" ];
        builder = "${bash}/bin/bash";
        args = [ "-e" (builtins.toFile "default-builder.sh" "source $stdenv/setup; genericBuild\n") ];
      });
    in
    drv // { meta = attributes.meta or { }; passthru = attributes.passthru or { }; } // (attributes.passthru or { }) // {
      overrideAttrs = f: mkDerivation (attributes // f attributes);
    };
  runCommand = name: attributes: buildCommand: mkDerivation (attributes // { inherit name buildCommand; });
in
{
  inherit system bash coreutils patchelf python3 stdenv runCommand;
  # `nix develop` asks for it.
  bashInteractive = bash;
  config = { };
  stdenvNoCC = stdenv;
  fetchurl = { name ? baseNameOf url, url ? "", hash ? sha256, sha256 ? null }: seeded name hash;
  # `shellHook` and the other attributes reach the shell as environment variables, as in nixpkgs.
  mkShell = attributes: mkDerivation ({ name = "nix-shell"; buildCommand = "echo shell > $out"; } // removeAttrs attributes [ "packages" ] // {
    nativeBuildInputs = attributes.packages or [ ];
  });
}
