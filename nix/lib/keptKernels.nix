# keptKernels :: { kernels, keep :: [string] } -> { <root> = { <kernel> = [instance]; }; }
# The kernels of a manifest, and those of `keep`: "ROOT.KERNEL", or "ROOT.KERNEL[f32]" for an instance of a generic one.
{ kernels, keep }:
let
  read = text:
    let parts = builtins.match "([A-Za-z_][A-Za-z0-9_]*)\\.([A-Za-z_][A-Za-z0-9_]*)(\\[([A-Za-z0-9_,]+)])?" text; in
    if parts == null then throw "gompute: keep \"${text}\": write \"ROOT.KERNEL\", or \"ROOT.KERNEL[f32]\" for an instance of a generic kernel."
    else { root = builtins.elemAt parts 0; kernel = builtins.elemAt parts 1; instance = builtins.elemAt parts 3; };
  add = all: { root, kernel, instance }:
    let
      made = all.${root} or { };
      before = made.${kernel} or [ ];
      more = if instance == null || builtins.elem instance before then [ ] else [ instance ];
    in
    all // { ${root} = made // { ${kernel} = builtins.sort (a: b: a < b) (before ++ more); }; };
in
builtins.foldl' add kernels (map read keep)
