#pragma once

namespace trainyard::server {

/// `trainyard serve`: serves until SIGTERM or SIGINT. Returns the exit status: 0 after a signal, 1 if it
/// could not serve (with a message on stderr), 2 for wrong flags. Running replicas live on; the next server
/// takes them over.
int Serve(int argc, char** argv);

}  // namespace trainyard::server
