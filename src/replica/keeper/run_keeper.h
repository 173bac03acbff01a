#pragma once

namespace trainyard::keeper {

/// `trainyard keeper --socket PATH [--server-unit UNIT] [--stop-timeout SECONDS]`: the process that starts
/// supervisors for a server (keeper.h), until SIGTERM. Tells systemd when it can be asked (sd_notify). Exit
/// code: 0; 1: it cannot listen, or could not end what it was to end (the reason is on stderr); 2: wrong
/// arguments.
int RunKeeper(int argc, char** argv);

}  // namespace trainyard::keeper
