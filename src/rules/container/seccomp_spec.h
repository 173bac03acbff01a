#pragma once

#include <string>

/// The filter of seccomp_filter.h as OCI runtimes take it. Pure: any thread.
/// Source: OCI runtime specification 1.0, config-linux.md, "Seccomp"; crun(1), run.oci.seccomp_bpf_data.
namespace trainyard::container {

/// linux.seccomp: the rules, which the runtime compiles. What its library does not know by name it leaves
/// out.
[[nodiscard]] std::string PrintSeccomp();

/// The compiled filter in base64: crun installs it as it is, and saves the milliseconds that compiling takes.
[[nodiscard]] std::string EncodeSeccompFilter();

}  // namespace trainyard::container
