package main

// root is the path of the repository's root.
const root = "../.."
