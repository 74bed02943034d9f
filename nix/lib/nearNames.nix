# nearNames :: string -> [string] -> [string]
# Up to three of the names that are spelled most like the given one; none where nothing is like it.
name: names:
let
  letters = word: map (at: builtins.substring at 1 word) (builtins.genList (at: at) (builtins.stringLength word));
  min = a: b: if a < b then a else b;

  # Levenshtein's distance, row by row: `row` holds the distances of the letters so far to each beginning of `to`.
  distance = from: to:
    let
      step = row: letter:
        (builtins.foldl'
          (done: at:
            let
              swap = builtins.elemAt row at + (if builtins.elemAt (letters to) at == letter then 0 else 1);
              left = builtins.elemAt done at + 1;
              up = builtins.elemAt row (at + 1) + 1;
            in
            done ++ [ (min swap (min left up)) ])
          [ (builtins.head row + 1) ]
          (builtins.genList (at: at) (builtins.stringLength to)));
      last = builtins.foldl' step (builtins.genList (at: at) (builtins.stringLength to + 1)) (letters from);
    in
    builtins.elemAt last (builtins.stringLength to);

  far = map (other: { inherit other; by = distance name other; }) names;
  # A third of the letters may differ.
  near = builtins.filter ({ other, by }: by * 3 <= builtins.stringLength other) far;
  sorted = builtins.sort (a: b: a.by < b.by || (a.by == b.by && a.other < b.other)) near;
in
map (found: found.other) (builtins.genList (builtins.elemAt sorted) (min 3 (builtins.length sorted)))
