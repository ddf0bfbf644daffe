//! What a wrong option is answered with.

/// The answer to an argument that no option is called.
pub fn not_an_option(argument: &str, options: &str) -> String {
    match options {
        "" => format!("`{argument}` is not an option; this command has none"),
        _ => format!("`{argument}` is not an option; the options are {options}"),
    }
}
