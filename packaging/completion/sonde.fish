# For fish: a folder of $fish_complete_path, or share/fish/vendor_completions.d, holds this file.
function __sonde_words
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    command --query $words[1]; or return
    $words[1] complete-words $words[2..] (commandline --current-token --cut-at-cursor) 2>/dev/null
end
complete --command sonde --no-files --condition 'count (__sonde_words) >/dev/null' --arguments '(__sonde_words)'
