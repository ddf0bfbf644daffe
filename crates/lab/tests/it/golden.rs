//! The numbers of simulated results, as they are today: a change of the lab's house must not change them.

use super::json;
use serde_json::Value;

/// Commands, and the digest of all numbers that they write. Only a change of a lock, of the simulator, of a workload or
/// of a calibration may change one: then write here what the test says.
const DIGESTS: [(&str, u64); 6] = [
    (
        "bench --on x5-4 --lock qspinlock,cna,mcs,mutex --threads 1,4,36 --secs 200us --runs 2",
        0x88d6_7a0b_b7c4_fda5,
    ),
    (
        "bench --on haswell-2s --vcpus 40 --lock park,hybrid,unfair --secs 10ms",
        0x3b0f_90b1_3462_abe8,
    ),
    (
        "bench --on cascade-lake-2s --lock rwlock,rwsem-v5_10 --threads 8 --read-percent 50 --secs 200us",
        0xf8d2_e7e5_2f34_1c11,
    ),
    (
        "compare --on x5-4 --quick --secs 100us --cell cs1-t2,cs20-t8,r90-cs1-t8,q1/1/1-one,map-w10-t2",
        0x2c89_1a8f_bbe7_e437,
    ),
    (
        "torture --on x5-4 --lock mutex,rwlock,qspinlock --faults --secs 500us",
        0x82da_75e9_21d8_011b,
    ),
    ("reproduce cna_v10_locktorture_x5_4 --quick", 0xf313_9cca_9fc4_91c8),
];

/// The bits of all numbers.
fn numbers(value: &Value, found: &mut Vec<u64>) {
    match value {
        Value::Number(number) => found.extend(number.as_f64().map(f64::to_bits)),
        Value::Array(values) => values.iter().for_each(|value| numbers(value, found)),
        Value::Object(object) => object.values().for_each(|value| numbers(value, found)),
        _ => {}
    }
}

/// FNV-1a of the numbers in their order, so that names and places of keys do not matter.
fn digest(document: &Value) -> u64 {
    let mut found = Vec::new();
    numbers(document, &mut found);
    found.sort_unstable();
    let bytes = found.iter().flat_map(|bits| bits.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn simulated_numbers_are_what_they_were() {
    let now = |line: &str| digest(&json(&format!("{line} --quiet --json -")));
    let other = DIGESTS.map(|(line, then)| (line, then, now(line)));
    let other = other.iter().filter(|(_, then, now)| then != now);
    let told: String = other.map(|(line, _, now)| format!("\n{line}: {now:#018x}")).collect();
    assert!(told.is_empty(), "these numbers have changed:{told}");
}
