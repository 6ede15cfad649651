"""The scripts by which shells complete the command. Each asks `hush completion words` what is possible."""

_BASH = r"""# Completion of hush for bash. In ~/.bashrc: eval "$(hush completion bash)"
_hush() {
    local line files="" current="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=()
    while IFS= read -r line; do
        case "$line" in
            :files) files=file ;;
            :folders) files=directory ;;
            ?*) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("${COMP_WORDS[0]}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -A "$files" -- "$current")
    fi
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=.:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -F _hush hush
"""
_ZSH = r"""#compdef hush
# Completion of hush for zsh. In ~/.zshrc, after compinit: eval "$(hush completion zsh)"
_hush() {
    local line files=""
    local -a possible
    while IFS= read -r line; do
        case "$line" in
            (:files|:folders) files="$line" ;;
            (?*) possible+=("${line%%$'\t'*}") ;;
        esac
    done < <("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    compadd -S '' -- ${(M)possible:#*[=.:]}
    compadd -- ${possible:#*[=.:]}
    case "$files" in
        (:files) _files ;;
        (:folders) _files -/ ;;
    esac
}
if [[ "${funcstack[1]}" == _hush ]]; then
    _hush "$@"
else
    compdef _hush hush
fi
"""
_FISH = r"""# Completion of hush for fish: hush completion fish > ~/.config/fish/completions/hush.fish
function __hush_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    for line in ($typed[1] completion words -- $typed[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':folders'
                __fish_complete_directories "$current"
            case '?*'
                echo $line
        end
    end
end
complete -c hush -f -a '(__hush_complete)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""The script of each shell."""
