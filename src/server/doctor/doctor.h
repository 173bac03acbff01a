#pragma once

namespace trainyard::server {

/// `trainyard machine-report DATA [SERVER_URL [LACKING]]`, internal: prints what `trainyard admin doctor`
/// shows of this machine as JSON (control/v1/admin.proto, Doctor). It runs as a separate process:
/// the probes fork, and one moves the process to another cgroup. Returns the exit status.
int ReportMachine(int argc, char** argv);

}  // namespace trainyard::server
