# Debian's interpreter, made to run from the store, and environments of it.
{ pins, raw, unpack, libraries, loader, bash, patchelf }:
let
  version = pins.python;
  site = "lib/python${version}/site-packages";
  # Two calls: patchelf 0.14 spoils the rpath when --add-needed and --set-rpath are one. RPATH, not RUNPATH: it serves dlopened libraries
  # too, which is how manylinux wheels find the libraries that the interpreter is made to need.
  bare = unpack "python3-${version}" [ "python${version}-minimal" "libpython${version}-minimal" "libpython${version}-stdlib" ] ''
    mkdir $out/bin $out/lib
    cp -a r/usr/lib/python${version} $out/lib/
    cp r/usr/bin/python${version} $out/bin/
    ln -s python${version} $out/bin/python3
    ln -s python${version} $out/bin/python
    rm -f $out/lib/python${version}/sitecustomize.py
    mkdir -p $out/${site}
    interpreter=$out/bin/python${version}
    ${patchelf}/bin/patchelf --add-needed libstdc++.so.6 --add-needed libgcc_s.so.1 --add-needed libz.so.1 $interpreter
    ${patchelf}/bin/patchelf --set-interpreter ${loader} --force-rpath --set-rpath ${libraries}/lib $interpreter
    find $out -name '*.so' -exec ${patchelf}/bin/patchelf --force-rpath --set-rpath ${libraries}/lib {} \;
    $out/bin/python3 -c 'import ssl, ctypes, sqlite3, zlib, hashlib' '';
in
bare // {
  pname = "python3";
  version = pins.pythonFull;
  pythonVersion = version;
  sitePackages = site;
  interpreter = "${bare}/bin/python3";
  # For the stand-in of poetry2nix: a wheel as a package.
  installWheel = name: wheel: raw "python3-${name}" { inherit wheel; } ''
    ${bare}/bin/python3 ${builtins.path { name = "install_wheel.py"; path = ./install_wheel.py; }} \
      $wheel $out ${site} ${patchelf}/bin/patchelf ${loader} ${libraries}/lib'';
  pkgs.toPythonModule = package: package;
  withPackages = choose: raw "python3-${version}-env" { paths = choose { }; } ''
    mkdir -p $out/bin $out/${site}
    printf 'home = ${bare}/bin\ninclude-system-site-packages = false\n' > $out/pyvenv.cfg
    for name in python python3 python${version}; do ln -s ${bare}/bin/python${version} $out/bin/$name; done
    ${bare}/bin/python3 ${builtins.path { name = "link_packages.py"; path = ./link_packages.py; }} $out ${site} ${bash}/bin/bash $paths'';
}
