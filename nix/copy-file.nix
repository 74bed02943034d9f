# copyFile :: path -> string -> shell code that puts a file or a folder of `src` below the current folder, at its place
# Each by itself, under a name that says nothing of the folder it came from: an edit of its neighbour changes nothing.
src: file:
let quote = import ./quote.nix; in ''
  mkdir -p ${quote (dirOf "./${file}")}
  cp -r ${builtins.path {
    name = "gompute-root-file";
    path = src + "/${file}";
    filter = path: _: baseNameOf path != "__pycache__";
  }} ${quote "./${file}"}
''
