#pragma once

namespace trainyard::server {

/// `trainyard serve`: serves until SIGTERM or SIGINT. Returns the exit status: 0 after a signal, 1 if it
/// could not serve (said on stderr), CLI11's for wrong flags. Running replicas live on; the next server takes
/// them over.
int Serve(int argc, char** argv);

}  // namespace trainyard::server
