# quote :: string -> one word of a shell
text: "'${builtins.replaceStrings [ "'" ] [ "'\\''" ] text}'"
