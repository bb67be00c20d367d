# Completion of mobiusc for fish: mobiusc completion fish | source
function __mobiusc_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] complete --current="$current" -- $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c mobiusc -f -a '(__mobiusc_complete)'
