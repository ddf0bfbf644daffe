//! Compiles the peers that are written in C and C++, if they were asked for.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "c-peers")]
    c_peers::build();
}

#[cfg(feature = "c-peers")]
mod c_peers {
    const DIRECTORY: &str = "src/peers/shim";
    /// Their libraries; Concurrency Kit is in headers.
    const LIBRARIES: [&str; 3] = ["nsync", "tbb", "absl_synchronization"];

    pub fn build() {
        println!("cargo:rerun-if-changed={DIRECTORY}");
        let file = |name: &str| format!("{DIRECTORY}/{name}");
        let in_c = ["peers.c", "rw_peers.c"].map(file);
        cc::Build::new().files(in_c).opt_level(2).compile("lockwright_peers_c");
        cc::Build::new()
            .cpp(true)
            .std("c++17")
            // What their headers say is their affair.
            .warnings(false)
            .file(file("peers.cc"))
            .opt_level(2)
            .compile("lockwright_peers_cc");
        LIBRARIES.iter().for_each(|library| println!("cargo:rustc-link-lib={library}"));
    }
}
