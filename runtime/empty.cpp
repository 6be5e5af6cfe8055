namespace bantam {}
