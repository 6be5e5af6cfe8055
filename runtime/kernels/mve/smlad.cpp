// The same inner loops as for cores without Helium.
#include "kernels/dsp/smlad.cpp"
