// Who may ask: names of this machine, pages of other sites, keys.
#ifndef BANTAM_CONVERTER_SERVE_ACCESS_H_
#define BANTAM_CONVERTER_SERVE_ACCESS_H_

#include <optional>
#include <string>
#include <vector>

#include "serve/replies.h"
#include "serve/request.h"

namespace bantam::serve {

struct AccessOptions {
  std::vector<std::string> keys;     // one of which requests must show; empty: none is asked for
  std::vector<std::string> origins;  // of pages that may ask ("*": all)
  std::vector<std::string> hosts;    // that requests may be for, beside this machine's own names
};

class Access {
 public:
  /// `local`: the server listens on this machine's own address, where a page of another site could ask under a name that leads there
  /// (DNS rebinding): Host is checked.
  Access(AccessOptions options, bool local) : options_(std::move(options)), local_(local) {}

  /// The reply to a request that is not answered: 403, 401, and 204 to a browser that asks in advance (CORS).
  std::optional<Reply> refuse(const RequestHead& head) const;
  /// The origin that a reply to the request names as one that may read it; "": none.
  std::string allowed_origin(const RequestHead& head) const;

 private:
  bool has_key(const RequestHead& head) const;

  AccessOptions options_;
  bool local_;
};

/// Keys of a file, a line each; empty lines are left out. Throws Error (I/O, invalid) where there is none.
std::vector<std::string> read_keys(const std::string& path);

}  // namespace bantam::serve

#endif  // BANTAM_CONVERTER_SERVE_ACCESS_H_
