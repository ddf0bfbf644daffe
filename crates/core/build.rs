//! Has lock words accessed without assembly where a sanitizer follows memory: it sees no assembly.

/// Those that compare an access with what they know of other accesses to the same memory.
const FOLLOW_MEMORY: [&str; 4] = ["address", "hwaddress", "memory", "thread"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Set by Cargo if the compiler says `sanitize="..."`, as it does with `-Zsanitizer`.
    let sanitizers = std::env::var("CARGO_CFG_SANITIZE").unwrap_or_default();
    if sanitizers.split(',').any(|name| FOLLOW_MEMORY.contains(&name)) {
        println!("cargo::rustc-cfg=lockwright_whole_word");
    }
}
