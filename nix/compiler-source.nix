# The half of gompute that turns a root into a blob. A kernel's derivation has this as its input and no more of the repository, so that an
# edit of the runtime, a test or a page of text compiles no kernel again.
let
  package = "${toString ../.}/gompute";
  folders = [ "artifacts" "backends" "build" "frontend" "ir" "lang" "math" "targets" ];
  files = [ "__init__.py" "__main__.py" "errors.py" "in_process.py" ];
  # Of the command line what `build` and `merge` need.
  commands = [ "__init__.py" "accounts.py" "ahead.py" "app.py" "build.py" "failures.py" "invocation.py" "merge.py" "options.py" "progress.py" "report.py" ];

  start = builtins.stringLength "${package}/";
  isBelow = path: builtins.substring 0 start path == "${package}/";
  belongs = path: type:
    let
      parts = builtins.filter builtins.isString (builtins.split "/" (builtins.substring start (-1) path));
      top = builtins.head parts;
      name = baseNameOf path;
    in
    if type == "directory" then
      name != "__pycache__" && builtins.elem top (folders ++ [ "cli" ])
    else
      builtins.match ".*\\.py" name != null && (
        if builtins.length parts == 1 then builtins.elem name files
        else if top == "cli" then builtins.elem name commands
        else builtins.elem top folders
      );
in
builtins.path {
  name = "gompute-compiler-half";
  path = ../.;
  filter = path: type: path == package || (isBelow path && belongs path type);
}
