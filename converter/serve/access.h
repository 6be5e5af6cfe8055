// Access control: host names of this machine, origins of web pages, keys.
#ifndef BANTAM_CONVERTER_SERVE_ACCESS_H_
#define BANTAM_CONVERTER_SERVE_ACCESS_H_

#include <optional>
#include <string>
#include <vector>

#include "serve/replies.h"
#include "serve/request.h"

namespace bantam::serve {

struct AccessOptions {
  std::vector<std::string> keys;     // requests must present one of them; empty: no key is needed
  std::vector<std::string> origins;  // origins of web pages that may send requests ("*": all)
  std::vector<std::string> hosts;    // host names that requests may use besides this machine's own names
};

class Access {
 public:
  /// `local`: the server listens on a loopback address, which a page of another site could reach through a name that
  /// resolves to it (DNS rebinding). Host is then checked.
  Access(AccessOptions options, bool local) : options_(std::move(options)), local_(local) {}

  /// Returns the reply to a request that must not be answered: 403, 401, or 204 for a browser's preflight request
  /// (CORS).
  std::optional<Reply> refuse(const RequestHead& head) const;
  /// Returns the origin that may read the reply, for its head; "": none.
  std::string allowed_origin(const RequestHead& head) const;

 private:
  bool has_key(const RequestHead& head) const;

  AccessOptions options_;
  bool local_;
};

/// Reads keys from a file, one per line, ignoring empty lines. Throws Error (I/O, invalid) if there is none.
std::vector<std::string> read_keys(const std::string& path);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_ACCESS_H_
