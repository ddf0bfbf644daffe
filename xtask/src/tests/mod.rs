//! Tests of the repository that belong to no command: a picture and pages that have to say what the sources say.

mod layers;
mod postings;
mod studies;
